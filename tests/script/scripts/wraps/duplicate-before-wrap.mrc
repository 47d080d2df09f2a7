# Duplicates and trims of PSNs on both sides of the wrap. REQ(rsp.window.duplicate-below)
# REQ(rsp.nack.trim) REQ(rsp.window.ancient)
config peer_psn 16777215

< WRITE ONLY psn 0 msn 1 trim midpath
> NACK psn 0 reason trimmed
< WRITE ONLY psn 16777215 msn 0 len 4
> ACK msn 1
< WRITE ONLY psn 16777215 msn 0 len 4 trim midpath ackreq
> SACK cack 16777215 trigger 16777215
> ACK msn 1
< WRITE ONLY psn 16777214 len 4                       # before the first of the connection
expect stat drop_old_psn 1
