// A second reader of Markdown for the tests: one JSON string per line in, one JSON object per line out. What comes out
// is what would be live on a page (kinds and targets), the text outside code, and the code.
import { createInterface } from 'node:readline'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfm } from 'micromark-extension-gfm'
import { gfmFromMarkdown } from 'mdast-util-gfm'

const extensions = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }

// text gathers what stands side by side in one block; code and breaks part it, and so do borders of emphasis and links.
function read(markdown) {
  const out = { live: [], text: [], code: [] }
  const walk = (node, link) => {
    switch (node.type) {
      case 'text':
        out.text.push({ value: node.value, link })
        return
      case 'inlineCode':
      case 'code':
        out.code.push(node.value)
        if (node.type === 'inlineCode') out.text.push({ value: '\u0001', link }) // what follows does not begin a line
        if (node.type === 'code' && node.lang) out.live.push({ kind: 'language', value: node.lang })
        return
      case 'html':
        out.live.push({ kind: 'html', value: node.value })
        return
      case 'image':
      case 'link':
      case 'definition':
        out.live.push({ kind: node.type, value: node.url })
        break
      case 'heading':
      case 'imageReference':
      case 'linkReference':
      case 'footnoteReference':
      case 'footnoteDefinition':
        out.live.push({ kind: node.type, value: node.label ?? '' })
        break
      case 'listItem':
        if (node.checked !== null && node.checked !== undefined) out.live.push({ kind: 'task', value: '' })
        break
      case 'break':
        out.text.push({ value: '\n', link })
        return
    }
    for (const child of node.children ?? []) walk(child, link || node.type === 'link')
    if (['paragraph', 'heading', 'tableCell'].includes(node.type)) out.text.push({ value: '\n\n', link: false })
  }
  walk(fromMarkdown(markdown, extensions), false)
  return out
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  let answer
  try {
    answer = read(JSON.parse(line))
  } catch (error) {
    answer = { error: String(error) }
  }
  process.stdout.write(JSON.stringify(answer) + '\n')
}
