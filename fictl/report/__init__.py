"""What tests and checkers found: outcomes, defects, suppressions, as JUnit and SARIF."""
