# A cut copy of what has already arrived gets a SACK, which says that it has, and no NACK.
# REQ(rsp.nack.trim-duplicate)
config planes 1

< WRITE ONLY psn 101 msn 1 len 8
< WRITE ONLY psn 101 msn 1 len 8 trim midpath
> SACK cack 99 map 0b10 trigger 101
< WRITE ONLY psn 101 msn 1 len 8 rtx trim midpath
> SACK cack 99 map 0b10 trigger 101 rtx
expect stat tx_nacks 0
