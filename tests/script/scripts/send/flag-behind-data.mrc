# The end of a WRITE waits for all PSNs below its own; other packets do not.
# REQ(ext.order.wait)
config extended on sack_bytes 100000

< WRITE LAST psn 102 msn 1 dmalen 1500 at 5024
< WRITE ONLY psn 103 msn 2 len 8 at 9000
expect placed nothing
< WRITE FIRST psn 101 msn 1 dmalen 1500 at 4000
expect placed 1024 at 4000
expect placed nothing
< WRITE ONLY psn 100 msn 0 len 100 at 0
> ACK msn 3
expect placed 100 at 0
expect placed 476 at 5024
expect placed 8 at 9000
