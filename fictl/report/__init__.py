"""Reports of tests and checkers: outcomes, defects, suppressions, as JUnit and SARIF."""
