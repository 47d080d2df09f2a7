# Marks that come faster than answers can leave: half of the places that are not kept for NACKs are
# one QP's, and the rest is dropped and counted. Nothing but time is lost by that.
# REQ(rsp.sack.coalesce) REQ(rsp.control.quota)
config control_ring 16 sack_bytes 1000000

hold
< WRITE ONLY psn 100..119 msn 0..19 len 4 ce
go
> SACK trigger 100..105 mark skip_once
> ACK msn 20
expect stat control_dropped 14
