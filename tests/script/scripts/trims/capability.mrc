# Answering trims is a capability: without it a cut packet is counted and nothing is said.
# REQ(rsp.nack.capability)
config trim_nack off

< WRITE ONLY psn 100 trim midpath
expect nothing for 1ms
expect stat rx_trimmed 1
expect placed nothing
