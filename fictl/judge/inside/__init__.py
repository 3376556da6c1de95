"""What runs inside of judged processes: the solution's part, and the reference's."""
