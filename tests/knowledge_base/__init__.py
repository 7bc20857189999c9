"""Tests of the object that users hold."""
