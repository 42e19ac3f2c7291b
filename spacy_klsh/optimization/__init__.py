"""Making codes informative."""
