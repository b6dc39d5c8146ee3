"""Many processes for one project: front ends take questions, workers answer them."""
