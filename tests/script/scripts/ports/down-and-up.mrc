# A local port goes down: its EVs are left at once, and stay what they were; when it is back it carries
# its share again. REQ(ep.port.local-down) REQ(ep.port.return) REQ(ep.port.survive)
config planes 2 evs 4

port 1 down
expect port 1 down
ignore EP_REQUEST
post write 4096 bytes id 1
> WRITE FIRST psn 100 plane 0
> WRITE MIDDLE psn 101..102 plane 0
> WRITE LAST psn 103 plane 0
expect info evs_bad 0
< ACK msn 1
expect completion id 1 success
port 1 up
expect port 1 up
post write 8 bytes id 2..5
> WRITE ONLY psn 104 plane 0,1 ev A
> WRITE ONLY psn 105 plane 0,1 ev !A
> WRITE ONLY psn 106 plane 0,1
> WRITE ONLY psn 107 plane 0,1
< ACK msn 5
expect completion id 2..5 success
port 2 down fails invalid
