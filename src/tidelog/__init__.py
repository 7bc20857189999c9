"""tidelog keeps the consequences of rules over data exactly right while both change."""

__version__ = "0.1.0"
