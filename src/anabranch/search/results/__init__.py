"""What was found: printable results, the choice of an action, views, drawings, files."""
