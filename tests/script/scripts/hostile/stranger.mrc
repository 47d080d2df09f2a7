# Packets from an address that is not the peer's, right in all else: counted and dropped.
# REQ(rsp.peer-check)
config evs 4

post write 8 bytes id 1
> WRITE ONLY psn 100
< WRITE ONLY psn 100 len 8 from stranger
< SACK cack 100 from stranger
< ACK msn 1 from stranger
< NACK psn 100 reason unexp_event from stranger
< PROBE probe 1 from stranger
expect nothing for 1ms
expect placed nothing
expect stat drop_stranger 5
expect state RTS
< ACK msn 1
expect completion id 1 success
