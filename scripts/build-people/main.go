// People of a room, by LiveKit's Go SDK: a thousand of them need less than a hundred of its native clients do.
//
// Each line of standard input is a command about one person, and each line of standard output what came of it, or a
// disconnection. The people leave with the process.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/livekit/protocol/logger"
	lksdk "github.com/livekit/server-sdk-go/v2"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
)

type command struct {
	ID       int    `json:"id"`
	Person   int    `json:"person"`
	Do       string `json:"do"`
	URL      string `json:"url"`
	Token    string `json:"token"`
	Sid      string `json:"sid"`
	Topic    string `json:"topic"`
	Bytes    int    `json:"bytes"`
	Reliable bool   `json:"reliable"`
}

// An answer has the id of its command; a disconnection has the person only.
type answer struct {
	ID     int    `json:"id,omitempty"`
	Person int    `json:"person"`
	Error  string `json:"error,omitempty"`
	Sid    string `json:"sid,omitempty"`
	Count  int64  `json:"count,omitempty"`
}

type person struct {
	room     *lksdk.Room
	received atomic.Int64
	tracks   sync.Map // context.CancelFunc by the track's sid
}

const (
	joinTimeout = 20 * time.Second
	frame       = 20 * time.Millisecond
)

var (
	people sync.Map // *person by its number
	output sync.Mutex
	opus   = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}
	// A frame of Opus that is silent.
	silence = []byte{0xf8, 0xff, 0xfe}
)

func main() {
	lksdk.SetLogger(logger.GetLogger()) // which keeps silent
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var each command
		if err := json.Unmarshal(lines.Bytes(), &each); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		go func() {
			result, err := run(each)
			result.ID, result.Person = each.ID, each.Person
			if err != nil {
				result.Error = err.Error()
			}
			tell(result)
		}()
	}
}

func tell(result answer) {
	line, _ := json.Marshal(result)
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(line))
}

func run(each command) (answer, error) {
	if each.Do == "join" {
		return join(each)
	}
	found, ok := people.Load(each.Person)
	if !ok {
		return answer{}, fmt.Errorf("person %d has not joined", each.Person)
	}
	one := found.(*person)
	switch each.Do {
	case "publish":
		sid, err := one.publish()
		return answer{Sid: sid}, err
	case "unpublish":
		if stop, ok := one.tracks.LoadAndDelete(each.Sid); ok {
			stop.(context.CancelFunc)()
		}
		return answer{}, one.room.LocalParticipant.UnpublishTrack(each.Sid)
	case "send":
		return answer{}, one.room.LocalParticipant.PublishDataPacket(lksdk.UserData(make([]byte, each.Bytes)),
			lksdk.WithDataPublishTopic(each.Topic), lksdk.WithDataPublishReliable(each.Reliable))
	case "leave":
		one.leave(each.Person)
		return answer{Count: one.received.Load()}, nil
	}
	return answer{}, fmt.Errorf("nobody can %q", each.Do)
}

func join(each command) (answer, error) {
	one := &person{}
	callback := lksdk.NewRoomCallback()
	callback.OnDisconnected = func() { tell(answer{Person: each.Person}) }
	callback.OnDataPacket = func(lksdk.DataPacket, lksdk.DataReceiveParams) { one.received.Add(1) }
	one.room = lksdk.NewRoom(callback)
	people.Store(each.Person, one)
	ctx, cancel := context.WithTimeout(context.Background(), joinTimeout)
	defer cancel()
	err := one.room.JoinWithContextAndToken(ctx, each.URL, each.Token, lksdk.WithDisableRegionDiscovery())
	if err != nil {
		one.leave(each.Person)
	}
	return answer{Sid: one.room.LocalParticipant.SID()}, err
}

func (one *person) leave(number int) {
	people.Delete(number)
	one.tracks.Range(func(_, stop any) bool {
		stop.(context.CancelFunc)()
		return true
	})
	one.room.Disconnect()
}

// Publishes a microphone that is silent, until it is unpublished or the person leaves.
func (one *person) publish() (string, error) {
	track, err := lksdk.NewLocalTrack(opus)
	if err != nil {
		return "", err
	}
	publication, err := one.room.LocalParticipant.PublishTrack(track, &lksdk.TrackPublicationOptions{Name: "microphone"})
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithCancel(context.Background())
	one.tracks.Store(publication.SID(), stop)
	go func() {
		ticker := time.NewTicker(frame)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if track.WriteSample(media.Sample{Data: silence, Duration: frame}, nil) != nil {
					return
				}
			}
		}
	}()
	return publication.SID(), nil
}
