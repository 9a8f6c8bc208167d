/** A piece of HTML. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | Value[]

/** HTML of a template, in which every value is escaped that is not HTML itself. Lists are joined. */
export const html = (parts: TemplateStringsArray, ...values: Value[]): Html =>
  new Html(String.raw({ raw: parts }, ...values.map(toText)))

function toText(value: Value): string {
  if (Array.isArray(value)) return value.map(toText).join('\n')
  return value instanceof Html ? value.text : escapeHtml(String(value))
}

/** Also for attributes. What HTML does not allow becomes visible: control characters, and halves of characters. */
export const escapeHtml = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[^\P{Cc}\n\t]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** A table whose first row is its header. */
export const htmlTable = (head: Value[], rows: Value[][]): Html => {
  const row = (cells: Value[], tag: 'th' | 'td') =>
    html`<tr>${cells.map((cell) => new Html(`<${tag} dir="auto">${toText(cell)}</${tag}>`))}</tr>`
  return html`<div class="scrolls"><table><thead>${row(head, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td'))}</tbody></table></div>`
}

const STYLE = `:root{color-scheme:light dark;--line:light-dark(#ccc,#444);--soft:light-dark(#f4f4f4,#222)}
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
table{border-collapse:collapse}td,th{border:1px solid var(--line);padding:.2rem .6rem;text-align:start;vertical-align:top}
.scrolls{overflow-x:auto}section{border-top:1px solid var(--line);margin-top:2rem}
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
<h1>${title}</h1>
${body}
</main>
</html>
`.text
