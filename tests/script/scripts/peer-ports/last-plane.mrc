# The last plane is never left because of what the peer says. REQ(ep.port.last-plane)
config planes 1 evs 2 tail_probe 50us probe_interval 100us probe_interval_max 100us

< EP_REQUEST op port_status id 9 ports 0
> EP_RESPONSE op port_status id 9
ignore PROBE
expect nothing for 10ms
expect no_event
post write 8 bytes id 1
> WRITE ONLY psn 100
< ACK msn 1
expect completion id 1 success
