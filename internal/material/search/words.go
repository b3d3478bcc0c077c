package search

import (
	"slices"
	"strings"
	"sync"
)

// stem takes the commonest English endings off, in place: enough to let "crashes" meet "crashed".
func stem(w []byte) []byte {
	for _, c := range w {
		if c < 'a' || c > 'z' {
			return w
		}
	}
	cut := func(end string, least int) bool {
		if len(w)-len(end) >= least && string(w[len(w)-len(end):]) == end {
			w = w[:len(w)-len(end)]
			return true
		}
		return false
	}
	switch {
	case cut("ies", 2):
		w = append(w, 'y')
	case cut("sses", 2):
		w = append(w, "ss"...)
	case len(w) > 3 && string(w[len(w)-2:]) != "ss" && string(w[len(w)-2:]) != "us" && string(w[len(w)-2:]) != "is":
		cut("s", 3)
	}
	switch {
	case cut("isation", 3), cut("ization", 3):
		w = append(w, "iz"...)
	case cut("ation", 4), cut("ition", 4):
	case cut("ingly", 4), cut("ing", 3), cut("edly", 4), cut("ed", 3):
		if n := len(w); n > 3 && w[n-1] == w[n-2] && strings.IndexByte("lsz", w[n-1]) < 0 {
			w = w[:n-1]
		}
	case cut("ment", 4), cut("ly", 4), cut("able", 4), cut("ible", 4):
	}
	if n := len(w); n > 3 && string(w[n-3:]) == "ise" {
		w[n-2] = 'z'
	}
	if n := len(w); n > 3 && w[n-1] == 'e' {
		w = w[:n-1]
	}
	return w
}

func set(text string) map[string]struct{} {
	m := map[string]struct{}{}
	for w := range strings.FieldsSeq(text) {
		m[w] = struct{}{}
	}
	return m
}

// The tables are made when they are first used: a command that searches for nothing starts without them.

// stopWords say nothing about a problem: grammar, and what every report says.
//
//nolint:gochecknoglobals,misspell // a table, read only; British spelling is meant
var stopWords = sync.OnceValue(func() map[string]struct{} {
	return set(`
a an the and or but if then than so as of at by for from in into on onto to with without about after before again against all also am any are aren
be been being both can could couldn did didn do does doesn doing don done down during each few had hadn has hasn have haven having he her here hers him
his how i im ive id it its itself just me more most my no nor not now off once only other our ours out over own same she should shouldn some such that
their them there these they this those through too under until up us very was wasn we were weren what when where which while who why will won would
wouldn you your yours let get gets got getting make makes made see seen seems seem like really still even ever yet however instead maybe please thanks
thank hello hi hey everyone
bug issue issues report reported reporting problem expected expect actual actually behavior behaviour steps step reproduce reproduction reproducible
repro description describe additional context information info version versions environment example following using use used tried try trying happens happen
happening occurs occur works work working way want need latest current currently new old one two first second time times something anything nothing duplicate
der die das und oder ist nicht ein eine einer mit auf von zu im den dem es ich wenn bei wird
le la les des un une et ou est pas que dans pour avec sur je il
el los las y o es no en un una con por para que
o os as e um uma em não com por para que
`)
})

// errorMarks are what words of messages of programs start with, by their first byte.
//
//nolint:gochecknoglobals // a table, read only
var errorMarks = sync.OnceValue(func() *[256][]string {
	return byFirst(
		"error[", "exception:", "panic:", "panicked", "PANIC", "Traceback", "fatal:", "FATAL", "Fatal:", "Segmentation fault", "SIGSEGV", "SIGABRT",
		"undefined reference", "Caused by", "failed with", "exit code", "exit status", "Uncaught", "Unhandled", "rejection", "assertion", "Assertion", "cannot find",
		"Cannot find", "Cannot read", "not found:", "error TS", "warning:", "WARN", "ERR!", "errno", "ENOENT", "ECONN", "EACCES", "ETIMEDOUT", "StackOverflow",
		"OutOfMemory", "out of memory", "index out of", "nil pointer", "NullPointer", "Permission denied", "No such file", "エラー:", "错误:", "错误：", "报错：", "에러:", "오류:",
	)
})

func byFirst(marks ...string) *[256][]string {
	var table [256][]string
	for _, m := range marks {
		table[m[0]] = append(table[m[0]], m)
	}
	return &table
}

// environmentWords are in the names of fields that ask where the program runs.
//
//nolint:gochecknoglobals // a table, read only
var environmentWords = sync.OnceValue(func() map[string]struct{} {
	return set(`version versions os system platform browser environment node python runtime architecture arch shell device hardware cpu gpu installed
manager terminal distribution kernel area component severity 版本 系统 操作系统 環境 环境 バージョン 버전 운영체제`)
})

// extensions of files.
//
//nolint:gochecknoglobals // a table, read only
var extensions = sync.OnceValue(func() map[string]struct{} {
	return set(`go rs ts tsx js jsx mjs cjs py rb java kt c h cc cpp hpp cs php swift m mm scala clj ex exs erl hs lua sh bash zsh ps1 bat sql html css scss
less vue svelte json yaml yml toml xml ini cfg conf md rst txt csv lock gradle mod sum dll exe dylib wasm proto tf log png svg jpg pdf env zig nix el vim`)
})

// concepts lead words to what they mean. Only words that reports use for one another stand in one line.
//
//nolint:gochecknoglobals,misspell // a table, read only; British spelling is meant
var concepts = sync.OnceValue(func() map[string][]string {
	return conceptsOf(
		"crash panic segfault sigsegv sigabrt abort abrt die died core coredump ice kill 崩溃 崩潰 闪退 閃退 落ちる 落ち クラッシュ 異常終了 충돌 크래시 강제종료 absturz abstürzt stürzt plante plantage",
		"hang freez frozen froz stuck unresponsiv deadlock lock block stall forever wait never 卡死 卡住 无响应 死锁 固まる フリーズ 応答なし 応答しない デッドロック 멈춤 멈춥 멈춰 응답없음 hängt bloqué",
		"slow slug sluggish slowness performanc perf lag laggy latency latenc regress throughput speed 慢 很慢 变慢 卡顿 性能 遅い 遅く 重い 느려 느림 느립 성능 langsam lent",
		"memory ram leak oom rss heap outofmemory 内存 泄漏 内存泄漏 記憶體 メモリ リーク 메모리 누수 speicher",
		"error fail failur exception throw threw thrown fault broken break broke 错误 报错 失败 異常 异常 エラー 失敗 例外 오류 에러 실패 예외 fehler erreur",
		"login signin logon logged auth authenticat oauth credential token sso password 登录 登陆 登錄 认证 密码 ログイン 認証 サインイン パスワード 로그인 인증 비밀번호 anmeldung",
		"delet remov eras drop purg wip clean 删除 移除 刪除 削除 消える 消え 삭제 제거 löschen",
		"upload attach attachment send 上传 上傳 アップロード 업로드 hochladen",
		"download fetch pull retriev 下载 下載 ダウンロード 다운로드 herunterladen",
		"save persist store stor written writ 保存 存储 儲存 저장 speichern",
		"lost lose los disappear gone vanish missing miss absent 丢失 消失 不见 無くなる なくなる 消失 사라 사라짐 유실 verloren",
		"dark night theme mod 深色 暗色 暗黑 夜间 主题 ダーク ダークモード テーマ 다크 다크모드 테마",
		"display render show shown draw paint visibl appear 显示 渲染 顯示 表示 描画 レンダリング 표시 렌더링 anzeige",
		"blank empty whit nothing 空白 白屏 真っ白 空 빈 하얀 leer",
		"garbl mojibak encod charset utf unicode 乱码 亂碼 编码 文字化け エンコード 깨짐 깨져 깨집 인코딩 umlaut",
		"install setup instal 安装 安裝 インストール 설치 installation",
		"upgrad updat migrat bump 升级 更新 升級 アップグレード アップデート 업그레이드 업데이트 aktualisierung",
		"start startup launch boot open begin 启动 啟動 打开 起動 開く 시작 실행 starten",
		"close quit exit shut shutdown terminat stop 关闭 退出 關閉 終了 閉じる 종료 닫기 beenden",
		"timeout timedout etimedout deadlin expir 超时 逾時 タイムアウト 타임아웃 시간초과 zeitüberschreitung",
		"network connect connection connectiv socket disconnect offlin econnreset econnrefus 网络 连接 斷線 断开 接続 ネットワーク 切断 연결 네트워크 끊김 verbindung",
		"file document 文件 檔案 ファイル 파일 datei",
		"folder director dir path 目录 文件夹 目錄 路径 フォルダ ディレクトリ パス 폴더 경로 디렉터리 ordner verzeichnis",
		"permission denied forbidden eaccess access unauthoriz privileg 权限 拒绝 權限 権限 アクセス拒否 권한 거부 berechtigung",
		"copy past clipboard 复制 粘贴 剪贴板 複製 コピー 貼り付け クリップボード 복사 붙여넣기 클립보드",
		"search find filter query lookup 搜索 查找 搜尋 検索 검색 suche",
		"scroll scrollbar swip 滚动 滾動 スクロール 스크롤",
		"keyboard shortcut hotkey keybind key press ime 键盘 快捷键 输入法 快速鍵 キーボード ショートカット 入力 키보드 단축키 입력 tastatur",
		"image pictur photo icon png thumbnail 图片 图像 圖片 画像 アイコン 이미지 사진 아이콘 bild",
		"font glyph typeface 字体 字型 フォント 글꼴 폰트 schrift",
		"date dat time timezon timestamp utc dst clock 时间 日期 时区 時區 日付 時刻 タイムゾーン 날짜 시간 시간대 datum",
		"duplicat twic doubl repeat multipl 重复 两次 重複 二重 2回 중복 두번 doppelt",
		"cache stale outdat invalidat 缓存 快取 キャッシュ 캐시",
		"config configur setting option preferenc flag 配置 设置 設定 オプション 설정 einstellung",
		"ignor respect honor honour disregard skip unaffect effect 忽略 无效 無視 効かない 무시 ignoriert",
		"wrong incorrect bad invalid inaccurat mistak 不正确 不对 不正 間違 잘못 falsch",
		"len length siz capacity bound 长度 長度 長さ サイズ 길이 크기",
		"null nil none undefin nan 空指针 空值 ヌル 널",
		"typo spell spelling misspell wording 错别字 誤字 오타",
		"doc documentation readm manual guid tutorial 文档 文檔 ドキュメント 문서 dokumentation",
		"compil build linker transpil bundl 编译 构建 編譯 ビルド コンパイル 빌드 컴파일",
		"test unittest spec suit flak 测试 測試 テスト 테스트",
		"print log output stdout consol 打印 日志 输出 日誌 出力 ログ 출력 로그 ausgabe",
		"number count total amount 数量 总数 件数 個数 개수 anzahl",
		"export csv dump sav 导出 匯出 エクスポート 내보내기",
		"import load read pars 导入 加载 解析 インポート 読み込み 불러오기 파싱",
		"notification notify alert email mail push 通知 邮件 提醒 通知 メール 알림 메일 benachrichtigung",
		"window dialog popup modal 窗口 对话框 弹窗 ウィンドウ ダイアログ ポップアップ 창 대화상자 팝업 fenster",
		"button click tap press mous cursor 按钮 点击 鼠标 按鈕 ボタン クリック マウス 버튼 클릭 마우스 knopf",
		"databas sql postgr mysql sqlit db 数据库 資料庫 データベース 데이터베이스 datenbank",
		"thread concurrency concurrent parallel race simultaneous async 并发 线程 竞态 並行 スレッド 競合 동시 스레드",
		"certificat tls ssl x509 https handshak 证书 憑證 証明書 인증서 zertifikat",
		"proxy gateway vpn 代理 プロキシ 프록시",
		"sort order sequenc arrang 排序 顺序 並び 順序 정렬 순서 sortierung",
		"large big huge giant massiv enormous oversiz 大きい 大きな 巨大 大文件 超大 큰 대용량 대량 groß",
		"photo avatar portrait selfi camera 头像 照片 写真 アバター 사진 아바타",
		"sound audio mut ping chim beep volum nois silent 声音 静音 音 消音 소리 음소거",
		"csv spreadsheet excel tabl column row comma tabular 表格 列 行 表 スプレッドシート 표 엑셀",
		"battery charg power drain energy wakelock 电量 耗电 バッテリー 배터리 akku",
		"phon mobil android iphon ipad smartphon tablet 手机 手機 スマホ 携帯 모바일 휴대폰 handy",
		"colour color contrast unreadabl illegibl readabl legibl invisibl dark black 颜色 黑色 对比度 色 配色 색상 검은색 farb",
		"link hyperlink anchor url href 链接 連結 リンク 링크",
		"accent diacritic umlaut nonascii unicode ascii utf emoji smiley",
		"print paper printer a4 letter 打印机 印刷 プリント 인쇄",
		"undo redo history revert ctrl rollback 撤销 復原 元に戻す 실행취소",
		"mail email invitation invit newsletter smtp 邮箱 招待 メール 초대",
		"admin administrator root elevat uac sudo superus 管理员 管理者 관리자",
		"zoom pinch gestur trackpad magnify scal touchpad 缩放 拡大 확대",
		"appointment calendar event schedul meeting 日历 日程 予定 カレンダー 일정 캘린더",
		"stale old outdat previous obsolet 旧 古い 이전",
		"sidebar tree explorer panel menu navigation list 侧边栏 菜单 メニュー サイドバー 메뉴 사이드바",
		"remot ssh host tunnel 远程 リモート 원격",
		"comment remark annotation 注释 コメント 주석 kommentar",
		"format formatter beautify prettify prettier indent lint 格式化 整形 포맷",
		"signatur hmac sign verify verification digest 签名 署名 서명",
		"volum mount chown owner ownership uid 挂载 マウント",
		"languag local locale translat i18n l10n spell dictionary 语言 翻译 言語 翻訳 언어 번역 sprach",
		"restart relaunch reboot reload session 重启 再起動 재시작 neustart",
		"releas upgrad newest latest redeploy deploy rollout 发布 リリース 배포",
		"regenerat generat random creat produc 生成 作成 생성",
		"settl choos select pick chosen switch toggl 选择 選択 선택",
		"laptop computer machin pc notebook devic client workstation 电脑 端末 컴퓨터",
		"pagination pag paginat limit hundr first 分页 ページ 페이지",
		"cut truncat clip crop shorten trim 截断 切れる 잘림",
		"server daemon servic backend worker 服务器 サーバー 서버",
		"peer dependency dependenc packag modul librar 依赖 依存 의존성 abhängigkeit",
		"container docker pod imag kubernet compos 容器 コンテナ 컨테이너",
		"type typ typing typescript generic annotation 类型 型 타입",
		"variabl scop binding bound nam identifier 变量 変数 변수",
		"message chat conversation dm 消息 チャット メッセージ 메시지 채팅",
		"duplicat resurrect reappear back again return 再现 復活 부활",
	)
})

func conceptsOf(lines ...string) map[string][]string {
	m := map[string][]string{}
	for _, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		for w := range strings.FieldsSeq(line) {
			for _, w := range []string{w, string(stem([]byte(w)))} {
				if !slices.Contains(m[w], name) {
					m[w] = append(m[w], name)
				}
			}
		}
	}
	return m
}
