# A wrong ICRC: dropped, whatever else the packet says. REQ(wire.icrc.bad)
config evs 4

post write 8 bytes id 1
> WRITE ONLY psn 100
< WRITE ONLY psn 100 len 8 badcrc
< ACK msn 1 badcrc
< SACK cack 100 badcrc trim midpath                   # only data packets are ever trimmed
expect nothing
expect stat drop_icrc 3
expect placed nothing
< ACK msn 1
expect completion id 1 success
