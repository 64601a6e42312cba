print 1
print nosuch
print 2
