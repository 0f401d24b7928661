// What the pods of the real node run: one static program, so that an image of it is a few megabytes.
//
//	toolbox pause             holds the namespaces of a pod
//	toolbox web               says which pod and image answered, and echoes the request
//	toolbox get URL           prints the answer, and fails when it is not 200
//	toolbox load URL [flags]  sends requests at a fixed rate until standard input ends, and prints what came back
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	command := "pause"
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	switch command {
	case "pause":
		pause()
	case "web":
		web()
	case "get":
		get(os.Args[2:])
	case "load":
		load(os.Args[2:])
	default:
		fmt.Fprintln(os.Stderr, "usage: toolbox pause|web|get|load")
		os.Exit(64)
	}
}

func pause() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
}

// Answer is what the web server says, as JSON.
type Answer struct {
	Pod     string            `json:"pod"`
	Version string            `json:"version"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
}

func web() {
	pod, _ := os.Hostname()
	image, _ := os.ReadFile("/etc/image")
	var asked atomic.Int64 // when it was, last
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.UserAgent(), "kube-probe/") {
			asked.Store(time.Now().UnixNano())
		}
		headers := map[string]string{}
		for name, values := range r.Header {
			headers[strings.ToLower(name)] = strings.Join(values, ",")
		}
		w.Header().Set("content-type", "application/json")
		w.Header().Set("x-image", string(image))
		_ = json.NewEncoder(w).Encode(Answer{pod, os.Getenv("VERSION"), r.URL.Path, headers})
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	server := &http.Server{Addr: ":" + port, Handler: handler}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		if err := server.ListenAndServe(); err != http.ErrServerClosed {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}()
	<-stop
	// Requests go on coming until every proxy knows that this pod is going, and a busy machine lets proxies wait.
	stopped := time.Now()
	for time.Since(stopped) < 25*time.Second {
		quiet := time.Since(time.Unix(0, max(asked.Load(), stopped.UnixNano())))
		if quiet > 2*time.Second {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func get(args []string) {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: toolbox get URL")
		os.Exit(64)
	}
	request, err := http.NewRequest(http.MethodGet, args[0], nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(64)
	}
	_, answer, failure := ask(&http.Client{Timeout: 5 * time.Second}, request)
	if failure != "" {
		fmt.Fprintln(os.Stderr, failure)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(answer)
}

// Report is what the load generator prints, as JSON.
type Report struct {
	Sent     int            `json:"sent"`
	Statuses map[string]int `json:"statuses"`
	Pods     map[string]int `json:"pods"`
	Versions map[string]int `json:"versions"`
	Failures []string       `json:"failures"`
}

func load(args []string) {
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	rate := flags.Int("rate", 100, "requests a second")
	seconds := flags.Int("seconds", 60, "stop after this, whatever standard input does")
	header := flags.String("header", "", "NAME=VALUE to send with every request")
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: toolbox load URL [--rate N] [--seconds N] [--header NAME=VALUE]")
		os.Exit(64)
	}
	_ = flags.Parse(args[1:])
	url := args[0]

	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	transport := &http.Transport{MaxIdleConns: 100, MaxIdleConnsPerHost: 100, MaxConnsPerHost: 100}
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	report := Report{Statuses: map[string]int{}, Pods: map[string]int{}, Versions: map[string]int{}, Failures: []string{}}
	var lock sync.Mutex
	var wait sync.WaitGroup
	one := func() {
		defer wait.Done()
		request, _ := http.NewRequest(http.MethodGet, url, nil)
		if name, value, ok := strings.Cut(*header, "="); ok {
			request.Header.Set(name, value)
		}
		status, answer, failure := ask(client, request)
		lock.Lock()
		defer lock.Unlock()
		report.Statuses[status]++
		if failure != "" && len(report.Failures) < 20 {
			report.Failures = append(report.Failures, time.Now().UTC().Format("15:04:05.000 ")+failure)
		}
		if answer.Pod != "" {
			report.Pods[answer.Pod]++
			report.Versions[answer.Version]++
		}
	}
	ticker := time.NewTicker(time.Second / time.Duration(*rate))
	end := time.After(time.Duration(*seconds) * time.Second)
	for running := true; running; {
		select {
		case <-ticker.C:
			report.Sent++
			wait.Add(1)
			go one()
		case <-stop:
			running = false
		case <-end:
			running = false
		}
	}
	wait.Wait()
	_ = json.NewEncoder(os.Stdout).Encode(report)
}

func ask(client *http.Client, request *http.Request) (status string, answer Answer, failure string) {
	response, err := client.Do(request)
	if err != nil {
		return "error", answer, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	status = fmt.Sprint(response.StatusCode)
	if err != nil {
		return "error", answer, err.Error()
	}
	if response.StatusCode != http.StatusOK {
		return status, answer, fmt.Sprintf("%s %.200s", status, body)
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "error", answer, err.Error()
	}
	return status, answer, ""
}
