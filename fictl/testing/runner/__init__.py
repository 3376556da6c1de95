"""What `fictl test` does around pytest: processes, outcomes, reports."""
