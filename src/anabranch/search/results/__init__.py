"""What was found: results for people, the choice of an action, views, drawings, files."""
