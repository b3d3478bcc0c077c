package search

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// distractors writes n issues of the same kind of product as the pairs, with their words, errors, forms and languages,
// so that words alone do not tell them apart. The same seed gives the same issues.
func distractors(seed uint64, n int) []Doc {
	rng := rand.New(rand.NewPCG(seed, 12))
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	docs := make([]Doc, n)
	for i := range docs {
		thing, symptom, when := pick(things), pick(symptoms), pick(whens)
		d := Doc{State: pick([]string{"open", "closed", "closed"}), Labels: []string{pick([]string{"bug", "question", "enhancement", "needs-info"})}}
		d.Title = pick([]string{thing + " " + symptom, thing + " " + symptom + " " + when, "[Bug]: " + thing + " " + symptom, when + " the " + thing + " " + symptom})
		text := fmt.Sprintf("%s %s the %s %s. %s %s", pick(openers), when, thing, symptom, pick(details), pick(details))
		switch kind := rng.IntN(20); {
		case kind < 8:
			d.Body = text
		case kind < 11:
			d.Body = fmt.Sprintf("### Version\n\n%d.%d\n\n### Operating system\n\n%s\n\n### What happened?\n\n%s\n\n### Logs\n\n_No response_\n", rng.IntN(9), rng.IntN(20), pick(systems), text)
		case kind < 14:
			d.Body = text + "\n\n```\n" + fmt.Sprintf(pick(traces), pick(files), rng.IntN(500), pick(functions)) + "\n```\n"
		case kind < 16:
			d.Body = text + "\n\n```ts\nconst " + pick(functions) + " = use" + pick(functions) + "(" + pick(functions) + ")\n```\n"
		default:
			l := foreign[rng.IntN(len(foreign))]
			d.Title = pick(l.things) + pick(l.symptoms)
			d.Body = pick(l.whens) + pick(l.things) + pick(l.symptoms) + pick(l.ends) + pick(l.whens) + pick(l.things) + pick(l.symptoms) + pick(l.ends)
		}
		docs[i] = d
	}
	return docs
}

var (
	openers = []string{"Hi,", "Since the last update,", "I noticed that", "Every time", "Sometimes", "On my machine,", "For our team,", "As the title says:", "Hello everyone,"}
	things  = strings.Split("profile picture,avatar upload,CSV import,CSV export,spreadsheet view,editor window,login page,single sign-on,password reset,folder sync,file explorer,"+
		"remote workspace,ssh connection,calendar,appointment list,notification sound,notification badge,background service,location polling,dark mode,light theme,help page,documentation link,"+
		"full text search,note list,clipboard,paste handler,undo history,print preview,print layout,invitation mail,queue worker,Windows installer,MSI package,map view,trackpad gesture,"+
		"query cache,router,typed client,enum parser,JSON decoder,table component,template engine,config loader,regex rule,watch mode,resize worker,thumbnail,migration,Postgres schema,"+
		"linker step,webpack bundle,docker image,helm chart,secret generator,private registry,company proxy,webhook signature,SQL formatter,soft keyboard,text field,spell checker,dictionary,"+
		"backup job,archive,artifact upload,git checkout step,nginx proxy,article editor,embedded picture,install script,peer dependency,type definitions,shopping cart,checkout,order service,"+
		"compiler,closure type check,request handler,goroutine pool,timezone column,groupby aggregation,progress bar,side menu,icon,tree view,drag and drop,PDF export,font", ",")
	symptoms = strings.Split("is slow,crashes,freezes,does not load,shows nothing,shows the wrong value,is cut off,fails with an error,never finishes,loses data,returns old data,ignores the setting,"+
		"appears twice,is missing,cannot be disabled,cannot be opened,times out,needs administrator rights,uses too much memory,drains the battery,is unreadable,jumps around,resets after restart,"+
		"deletes too much,blocks the window,asks for the password again,stops at 99 %,is not translated,has no keyboard shortcut,should be configurable,breaks with the new release,"+
		"is shown in the wrong order,prints garbage,has the wrong color,overlaps the toolbar,is not saved,does not scroll,rejects valid input,accepts invalid input,leaks file handles", ",")
	whens = strings.Split("after an upgrade,when offline,behind a proxy,on a slow network,with many files,with a large file,in landscape,in a second window,on first start,after a restart,"+
		"with non-ASCII names,when two people edit,with an empty config,in a container,on older phones,in Safari,in Firefox,on Windows,on macOS,on Ubuntu,when the disk is full,with a filter,"+
		"as a guest,as an administrator,in the nightly build,with strict mode,when typing fast,while uploading,while saving,when the queue restarts,with a custom theme", ",")
	details = strings.Split("Nothing is in the log.|The previous version was fine.|It works after a reload.|Only some users see it.|I can reproduce it every time.|A restart helps for a while.|"+
		"The console shows no message.|Other files are not affected.|CPU stays at 100 % meanwhile.|The process has to be killed.|It started with the last deploy.|The settings have no switch for it.|"+
		"Images are fine, text is not.|All other pages work.|The database answers normally.|The same on the phone.|I waited ten minutes.|Downgrading helps.|The team needs this for a release.|"+
		"The server returns 500.|The request takes a minute.|It must be one of the latest changes.|A colleague sees the same.|The preview looks right.|My cookies are set.", "|")
	systems   = []string{"Ubuntu 24.04", "macOS 15", "Windows 11", "Fedora 41", "Debian 12", "Android 14", "iOS 18"}
	files     = []string{"client.py", "planner.go", "OrderService.java", "region.c", "archive.py", "router.ts", "watcher.js", "type_check.rs", "index.tsx", "main.c", "Upload.kt", "sync.cs"}
	functions = []string{"Options", "Planner", "OrderList", "Resize", "Upload", "SyncQueue", "Lookup", "Render", "TreeNode", "Flush", "LockTable", "Acquire", "Decode", "Router", "Query", "Todo", "UserCreated", "Secret"}
	traces    = []string{
		"panic: runtime error: invalid memory address or nil pointer dereference\n\t/src/internal/%s:%d +0x1f %s", "Traceback (most recent call last):\n  File \"/usr/lib/%s\", line %d, in %s\nValueError: bad value",
		"Exception in thread \"main\" java.lang.IllegalStateException: closed\n\tat com.shop.%s:%d %s", "TypeError: Cannot read properties of undefined\n    at %s:%d:11 (%s)",
		"Error: connect ECONNREFUSED 127.0.0.1\n    at %s:%d %s", "Segmentation fault (core dumped) in %s line %d, %s", "error: timeout of 30s exceeded\n  %s:%d %s",
	}
	foreign = []struct{ things, symptoms, whens, ends []string }{
		{
			strings.Split("编辑器,上传文件,附件列表,登录页面,深色主题,代码块,同步进度,左侧菜单,日志文件,下载的文件名,通知,搜索结果,导出 PDF,设置页面", ","),
			strings.Split("显示错误,很慢,没有反应,无法打开,崩溃,乱码,丢失,重复出现,颜色不对,提示认证失败,不保存,停在一半", ","),
			strings.Split("升级之后,打开大文件时,切换主题以后,重启后,在手机上,用中文名称时,多人编辑时,网络慢时", ","),
			[]string{"。", ",没有提示。", ",旧版本正常。", ",请修复。"},
		},
		{
			strings.Split("エディタ,添付ファイル,ログイン画面,ダークテーマ,検索結果,同期,左のメニュー,チャット欄,PDF エクスポート,フォント,起動,設定画面", ","),
			strings.Split("が遅い,が表示されない,が開けない,がクラッシュする,が文字化けする,が消える,が二重に表示される,の色がおかしい,が保存されない,が止まる", ","),
			strings.Split("更新後、,大きなファイルで、,再起動後、,スマホで、,日本語入力中に、,ワークスペースを開くと、,オフラインで、", ","),
			[]string{"。", "。以前は問題なし。", "。ログには何も出ません。"},
		},
		{
			strings.Split("편집기 ,첨부파일 ,로그인 화면 ,다크 모드 ,검색 결과 ,동기화 ,왼쪽 메뉴 ,아이콘 ,파일 이름 ,노트 목록 ,설정 화면 ", ","),
			strings.Split("느립니다,보이지 않습니다,열리지 않습니다,충돌합니다,깨집니다,사라집니다,두 번 나옵니다,색상이 이상합니다,저장되지 않습니다,멈춥니다", ","),
			strings.Split("업데이트 후 ,큰 파일에서 ,재시작 후 ,모바일에서 ,한글 이름이면 ,테마를 바꾸면 ,오프라인에서 ", ","),
			[]string{". ", ". 이전 버전은 정상입니다. ", ". 로그는 없습니다. "},
		},
	}
)
