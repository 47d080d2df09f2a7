# The word was forged or mistaken: the first probe on the plane is answered, and nothing changes.
# REQ(ep.port.suspicion)
config planes 2 evs 4 tail_probe 50us probe_interval 100us

< EP_REQUEST op port_status id 9 ports 0b01
> EP_RESPONSE op port_status id 9
> PROBE plane 1 probe P
+10us < SACK cack 99 probe P
expect nothing for 10ms
expect no_event
