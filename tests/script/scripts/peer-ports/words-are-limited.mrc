# However often such words come, a plane is looked at once an interval at most.
# REQ(ep.port.word-limit)
config planes 2 evs 4 tail_probe 50us probe_interval 10ms probe_interval_max 10ms

ignore EP_RESPONSE
< EP_REQUEST op port_status id 1 ports 0b01
> PROBE plane 1 probe P
+10us < SACK cack 99 probe P
+1us < EP_REQUEST op port_status id 2..200 ports 0b01
expect nothing for 5ms
+5ms < EP_REQUEST op port_status id 3 ports 0b01
> PROBE plane 1 probe Q
< SACK cack 99 probe Q
