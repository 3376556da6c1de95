"""Files of comparisons and histories: Markdown, JUnit, CSV and pictures."""
