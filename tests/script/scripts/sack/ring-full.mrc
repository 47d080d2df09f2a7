# Marks that come faster than answers can leave: when the ring of answers is full the rest is dropped
# and counted. Nothing but time is lost by that. REQ(rsp.sack.coalesce)
config control_ring 8 sack_bytes 1000000

hold
< WRITE ONLY psn 100..119 msn 0..19 len 4 ce
go
> SACK trigger 100..107 mark skip_once
> ACK msn 20
expect stat control_dropped 12
