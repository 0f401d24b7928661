// Objects as Go's own types encode them, for the tests of the embedded API server.
//
//	go-objects write SEED COUNT KIND...  prints COUNT random objects of each kind (`apps/v1/Deployment`), a line each
//	go-objects read                      reads such lines and prints those whose protobuf is not the object of their JSON
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
)

type line struct {
	Kind     string          `json:"kind"`
	Protobuf []byte          `json:"protobuf"`
	JSON     json.RawMessage `json:"json"`
}

func main() {
	must(apiextensions.AddToScheme(scheme.Scheme))
	codec := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	if len(os.Args) == 2 && os.Args[1] == "read" {
		read(codec)
		return
	}
	if len(os.Args) < 5 || os.Args[1] != "write" {
		fmt.Fprintln(os.Stderr, "usage: go-objects write SEED COUNT KIND... | read")
		os.Exit(64)
	}
	seed, err := strconv.ParseInt(os.Args[2], 10, 64)
	must(err)
	count, err := strconv.Atoi(os.Args[3])
	must(err)
	write(codec, seed, count, os.Args[4:])
}

func write(codec *protobuf.Serializer, seed int64, count int, kinds []string) {
	codecs := serializer.NewCodecFactory(scheme.Scheme)
	funcs := fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, ours)
	filler := fuzzer.FuzzerFor(funcs, rand.NewSource(seed), codecs).NilChance(0.3).NumElements(1, 3).MaxDepth(20)
	out := json.NewEncoder(os.Stdout)
	for _, kind := range kinds {
		gvk := parse(kind)
		for range count {
			object, err := scheme.Scheme.New(gvk)
			must(err)
			filler.Fill(object)
			object.GetObjectKind().SetGroupVersionKind(gvk)
			bytes := encode(codec, object)
			// Protobuf knows no difference between an empty list and none: the JSON is that of what came through.
			text, err := json.Marshal(decode(codec, bytes))
			must(err)
			must(out.Encode(line{kind, bytes, text}))
		}
	}
}

func read(codec *protobuf.Serializer) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var given line
		must(json.Unmarshal(in.Bytes(), &given))
		want, err := scheme.Scheme.New(parse(given.Kind))
		must(err)
		must(json.Unmarshal(given.JSON, want))
		got := decode(codec, given.Protobuf)
		got.GetObjectKind().SetGroupVersionKind(parse(given.Kind))
		if !equality.Semantic.DeepEqual(want, got) {
			text, _ := json.Marshal(got)
			fmt.Printf("%s: wanted %s, got %s\n", given.Kind, given.JSON, text)
		}
	}
	must(in.Err())
}

// ours fills what random bytes would break: JSON inside of objects, and schemas, which hold schemas.
func ours(serializer.CodecFactory) []interface{} {
	text := func(c randfill.Continue) []byte {
		return []byte(fmt.Sprintf(`{"key":%d,"list":["a",null,true]}`, c.Intn(100)))
	}
	depth := 0
	return []interface{}{
		func(raw *runtime.RawExtension, c randfill.Continue) { raw.Raw = text(c) },
		func(fields *meta.FieldsV1, c randfill.Continue) { fields.Raw = text(c) },
		func(value *apiextensions.JSON, c randfill.Continue) { value.Raw = text(c) },
		func(props *apiextensions.JSONSchemaProps, c randfill.Continue) {
			depth++
			if depth < 3 {
				c.FillNoCustom(props)
			}
			depth--
		},
		func(either *apiextensions.JSONSchemaPropsOrBool, c randfill.Continue) {
			either.Allows = c.Bool()
			if either.Allows && c.Bool() {
				either.Schema = &apiextensions.JSONSchemaProps{Type: c.String(10)}
			}
		},
		func(either *apiextensions.JSONSchemaPropsOrArray, c randfill.Continue) {
			if c.Bool() {
				either.Schema = &apiextensions.JSONSchemaProps{Type: c.String(10)}
			} else {
				either.JSONSchemas = []apiextensions.JSONSchemaProps{{Type: c.String(10)}, {Format: c.String(10)}}
			}
		},
		func(either *apiextensions.JSONSchemaPropsOrStringArray, c randfill.Continue) {
			if c.Bool() {
				either.Schema = &apiextensions.JSONSchemaProps{Type: c.String(10)}
			} else {
				either.Property = []string{c.String(10), c.String(10)}
			}
		},
	}
}

func encode(codec *protobuf.Serializer, object runtime.Object) []byte {
	var out strings.Builder
	must(codec.Encode(object, &out))
	return []byte(out.String())
}

func decode(codec *protobuf.Serializer, bytes []byte) runtime.Object {
	object, _, err := codec.Decode(bytes, nil, nil)
	must(err)
	return object
}

// parse reads `apps/v1/Deployment`, or `v1/Pod` of the core group.
func parse(kind string) schema.GroupVersionKind {
	at := strings.LastIndex(kind, "/")
	version, err := schema.ParseGroupVersion(kind[:at])
	must(err)
	return version.WithKind(kind[at+1:])
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
