module github.com/rtc-service/rtc-service/clients/go

go 1.23
