# A packet need not carry a time stamp, and packets of one message may differ in that.
# REQ(wire.tseth.optional)
config planes 1

< WRITE FIRST psn 100 dmalen 2048 nots
< WRITE LAST psn 101 dmalen 2048 ackreq
expect placed 1024 at 0
expect placed 1024 at 1024
> SACK cack 101 ts echo
> ACK msn 1
