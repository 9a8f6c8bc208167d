import { describe, expect, it } from 'vitest'
import { toReport } from '../../../cli/cases/format-cases.ts'
import { html, htmlTable } from '../../../cli/cases/html.ts'
import { formatHtmlReport } from '../../../cli/cases/html-report.ts'

const ATTACKS = [
  '</script><script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</pre></style><style>*{display:none}</style>',
  '<!-- <title>',
  '&lt;b&gt;',
  '\u202Egnp.exe\u0000\u001B[31m',
  '\uD800',
  'مرحبا بالعالم',
]

/** A report with a text everywhere where one can be. */
function reportOf(text: string) {
  const run = {
    name: text,
    output: { text },
    error: null,
    failedCalls: [],
    steps: 1,
    costUsd: 0.01,
    durationMs: 5,
    scores: {
      [text]: { score: 0.5, reason: text, error: null, costUsd: 0 },
      other: { score: null, reason: null, error: text, costUsd: 0 },
    },
    failures: [
      { pointer: text, expected: text, actual: { text } },
      { pointer: '', message: text },
    ],
  }
  const failed = { ...run, name: 'failed', output: null, error: { code: text, message: text } }
  const cases = [{ name: text, input: { [text]: text }, expect: { equals: { text } } }]
  const tested = { title: text, slug: 'slug', description: text, finishedAt: new Date(0), cases }
  return formatHtmlReport(tested, [
    { model: text, ...toReport([run, failed]) },
    { model: text, problem: text },
  ])
}

const tagsOf = (page: string) =>
  [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replaceAll(/"[^"]*"/g, '""')).join('')

describe('formatHtmlReport', () => {
  it.each(ATTACKS)('escapes %j everywhere', (text) => {
    const page = reportOf(text)
    expect(tagsOf(page)).toBe(tagsOf(reportOf('x')))
    expect(page).not.toMatch(/[^\P{Cc}\n\t]|<script|https?:/u)
    expect(page.isWellFormed()).toBe(true)
  })

  it('shows the text itself, each piece in the direction of its language', () => {
    const page = reportOf('A & B')
    expect(page.match(/A &#38; B/g)?.length).toBeGreaterThan(12)
    expect(page).not.toMatch(/<(?:td|th|pre|h1)(?! dir="auto")[ >]/)
  })

  it('stays small with outputs of 5 MB, and says what it leaves out', () => {
    const page = reportOf('<'.repeat(5_000_000))
    expect(page.length).toBeLessThan(5_000_000)
    expect(page).toContain('4,980,000 more characters')
  })
})

describe('html', () => {
  it('escapes what is not HTML itself', () => {
    expect(html`<p title="${'"'}">${['<', html`<b>${1}</b>`]}</p>`.text).toBe(
      '<p title="&#34;">&#60;\n<b>1</b></p>',
    )
    expect(htmlTable(['<'], [['&']]).text).toContain('<th dir="auto">&#60;</th>')
  })
})
