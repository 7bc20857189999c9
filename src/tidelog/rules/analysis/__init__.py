"""What is checked and computed about rules before they run: safety, dependencies, strata."""
