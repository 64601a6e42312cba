# a script of several commands
set $filled = 0
while $filled < 3
  set $filled = $filled + 1
  printf "filled %d\n", $filled
end
define from_file
  echo from the file: $arg0\n
end
document from_file
Print a word.
Second line.
end
