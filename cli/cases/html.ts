import { truncate } from '../../lib/schema/message-text.ts'

/** A piece of HTML. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | Value[]

/** So that a page with many large texts opens. */
const MAX_CHARACTERS = 20_000

/** HTML of a template. A value that is not HTML itself is escaped, and cut if it is long. Lists are joined. */
export const html = (parts: TemplateStringsArray, ...values: Value[]): Html =>
  new Html(String.raw({ raw: parts }, ...values.map(toText)))

function toText(value: Value): string {
  if (Array.isArray(value)) return value.map(toText).join('\n')
  if (value instanceof Html) return value.text
  const text = String(value)
  const cut = text.length - MAX_CHARACTERS
  const note = cut > 0 ? ` (${cut.toLocaleString('en')} more characters)` : ''
  return escapeHtml(truncate(text, MAX_CHARACTERS)) + note
}

/** Also for attributes. What HTML does not allow becomes visible: control characters, and halves of characters. */
const escapeHtml = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[^\P{Cc}\n\t]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** A table whose first row is its header. */
export const htmlTable = (head: Value[], rows: Value[][]): Html => {
  const row = (cells: Value[], tag: 'th' | 'td') =>
    html`<tr>${cells.map((cell) => new Html(`<${tag} dir="auto">${toText(cell)}</${tag}>`))}</tr>`
  return html`<div class="scrolls" tabindex="0"><table><thead>${row(head, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td'))}</tbody></table></div>`
}

const STYLE = `:root{color-scheme:light dark;--line:light-dark(#ccc,#444);--soft:light-dark(#f4f4f4,#222)}
body{background:light-dark(#fff,#121212);color:light-dark(#111,#eee);font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
table{border-collapse:collapse}td,th{border:1px solid var(--line);padding:.2rem .6rem;text-align:start;vertical-align:top}
td,th{overflow-wrap:break-word;max-width:30rem}.scrolls{overflow-x:auto;margin:1rem 0}td pre{margin:0}section{border-top:1px solid var(--line);margin-top:2rem}
pre{background:var(--soft);padding:.6rem;white-space:pre-wrap;max-height:24rem;overflow:auto;unicode-bidi:plaintext}
.failed{color:light-dark(#b00020,#ff8a9a)}.passed{color:light-dark(#106b21,#7ddf8f)}`

/** A page that needs nothing else, and runs no script whatever it contains. */
export const htmlPage = (title: string, body: Html[]): string =>
  html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
<main>
<h1 dir="auto">${title}</h1>
${body}
</main>
</html>
`.text
