"""From kernel values to hash codes."""
