"""Sources (videos and pictures): find them, probe them, divide them into segments, decode them."""
