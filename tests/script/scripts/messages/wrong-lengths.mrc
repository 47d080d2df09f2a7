# Payload that does not fit opcode, MTU and message length is refused before anything is placed.
# REQ(rsp.place.payload-length)
config mtu 1024

< WRITE ONLY psn 100 len 100 dmalen 101
< WRITE ONLY psn 100 len 1025 dmalen 1025
< WRITE FIRST psn 100 len 1023 dmalen 3000
< WRITE FIRST psn 100 len 1024 dmalen 1024
< WRITE MIDDLE psn 101 len 8 dmalen 3000
< WRITE LAST psn 102 len 1024 dmalen 3000
expect stat drop_malformed 6
expect placed nothing
expect nothing
< WRITE LAST psn 102 len 952 dmalen 3000
expect placed 952 at 2048
