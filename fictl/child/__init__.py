"""A process of ours: started with a request, heard message by message, ended with its family."""
