// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

var keys = map[string]string{}

func die(what string, err error) {
	fmt.Fprintf(os.Stderr, "bench-%s: %s: %v\n", info.name, what, err)
	os.Exit(1)
}

// The value of key=value on the command line; else what is given here.
func number(key string, otherwise float64) float64 {
	text, given := keys[key]
	if !given {
		return otherwise
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= 1e12) {
		fmt.Fprintf(os.Stderr, "not a number: %s\n", text)
		os.Exit(2)
	}
	return x
}

func argument(key string, otherwise int64) int64 {
	value := int64(number(key, float64(otherwise)))
	fmt.Printf(", \"%s\": %d", key, value)
	return value
}

// Seconds, given as nanoseconds.
func argumentNs(key string, otherwise float64) int64 {
	value := number(key, otherwise)
	fmt.Printf(", \"%s\": %.6g", key, value)
	return int64(value * 1e9)
}

// Which of these words it is; the first if it is not given.
func argumentWord(key string, words ...string) string {
	text, given := keys[key]
	if !given {
		text = words[0]
	}
	for _, word := range words {
		if word == text {
			fmt.Printf(", \"%s\": \"%s\"", key, word)
			return word
		}
	}
	fmt.Fprintf(os.Stderr, "not known: %s\n", text)
	os.Exit(2)
	return ""
}

// One member of the JSON object that the program prints.
func result(key string, value float64) {
	fmt.Printf(", \"%s\": %.10g", key, value)
}

// p50, p99, p99.9 and the most of these, in nanoseconds; sorts them.
func resultPercentiles(prefix string, values []int64) {
	result(prefix+"p50", float64(percentile(values, 0.5)))
	result(prefix+"p99", float64(percentile(values, 0.99)))
	result(prefix+"p999", float64(percentile(values, 0.999)))
	result(prefix+"max", float64(percentile(values, 1)))
}

// Ends the program, as one that cannot do this.
func skip(why string) {
	fmt.Printf(", \"skipped\": \"%s\"}\n", why)
	os.Exit(0)
}

func printPeer(work string) {
	fmt.Printf("{\"peer\": \"%s\", \"version\": \"%s\", "+
		"\"clock\": \"monotonic\", \"resolution\": 1, "+
		"\"notes\": \"%s\", \"work\": \"%s\"",
		info.name, strings.TrimPrefix(runtime.Version(), "go"),
		info.notes, work)
}
