# Packets from an address that is not the peer's, right in all else: counted and dropped.
# REQ(rsp.peer-check)
config evs 4

post write 8 bytes id 1
> WRITE ONLY psn 100
< WRITE ONLY psn 100 len 8 from attacker
< SACK cack 100 from attacker
< ACK msn 1 from attacker
< NACK psn 100 reason unexp_event from attacker
< PROBE probe 1 from attacker
expect nothing for 1ms
expect placed nothing
expect stat drop_src_mismatch 5
expect state RTS
< ACK msn 1
expect completion id 1 success
