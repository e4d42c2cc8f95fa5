"""The one long-lived process of a repository: looks, publishes, acts."""
