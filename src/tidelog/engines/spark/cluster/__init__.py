"""The Spark session, and jobs of stages of tasks."""
