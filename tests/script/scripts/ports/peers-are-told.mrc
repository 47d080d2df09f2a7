# When a port of ours changes the peer is told, over a port that is up, until it confirms; a lost
# update goes again after twice the wait. REQ(ep.port.status-update)
config planes 2 evs 4 tail_probe 50us

port 1 down
> EP_REQUEST op port_status ports 0b01 plane 0 id A dqp 2 class control
+200us..500us > EP_REQUEST op port_status ports 0b01 plane 0 id B
+10us < EP_RESPONSE op port_status id B
expect nothing for 1s
port 1 up
> EP_REQUEST op port_status ports 0b11 id C
+10us < EP_RESPONSE op port_status id C
expect nothing for 1s
