const WORDS = 'the quick brown fox jumps over a lazy dog while 4 red hens watch it from 17 old walls'.split(
  ' ',
)

/** About as many bytes of words, in no regular order, so that they compress like prose. */
export function textOf(bytes: number): string {
  let [text, state] = ['', bytes]
  while (text.length < bytes) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    text += `${WORDS[state % WORDS.length]}${state % 1_000} `
  }
  return text
}

const COUNT = `---
title: Count
slug: count
code: true
input: { text: { type: string } }
output: { words: { type: number }, text: { type: string } }
---
`

const COUNT_CODE = `export default async ({ text }, { step }) => ({
  words: await step('count', () => text.split(' ').length),
  text: (await step('keep', () => ({ text }))).text,
})`

const JOURNAL = `---
title: Journal
slug: journal
code: true
input: { log: { type: string }, hold: { type: string }, padding: { type: string } }
output: { total: { type: number }, padding: { type: string } }
---
`

/** Logs each step that it computes, and stays in the second one while the file `hold` exists. */
const JOURNAL_CODE = `import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
export default async ({ log, hold, padding }, { step }) => {
  let total = 0
  for (const number of [1, 2, 3]) {
    const result = await step('step-' + number, async () => {
      appendFileSync(log, String(number))
      while (number === 2 && existsSync(hold)) await sleep(50)
      return { number, padding }
    })
    total += result.number
  }
  return { total, padding }
}`

const ask = (model: string, toolHost: string) => `---
title: Ask
slug: ask
model: ${model}
input: { question: { type: string } }
output: { answer: { type: string } }
tools:
  - name: get_price
    description: Looks a price up.
    input: {}
    http: { method: GET, url: "http://${toolHost}/price", allowedHosts: ["${toolHost}"] }
---

Answer the question.
`

/** Bodies of `publish-agent`: code that stores steps, code that can be interrupted, and a model with a tool. */
export const AGENTS = ({ model, toolHost }: { model: string; toolHost: string }) => [
  { document: COUNT, code: COUNT_CODE },
  { document: JOURNAL, code: JOURNAL_CODE },
  { document: ask(model, toolHost) },
]
