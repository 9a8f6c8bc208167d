import { describe, expect, it } from 'vitest'
import { macOf } from '../../lib/core/callback-mac.ts'
import type { Json } from '../../lib/core/json/json.ts'
import { toElicitation } from '../../lib/mcp/elicitation.ts'
import { PDF } from '../support/data/files.ts'

const messageOf = (input: Json, title = 'Refund?') =>
  toElicitation({ name: 'refund', title, input }).params.message

describe('toElicitation', () => {
  it('shortens what is too long to read', () => {
    const message = messageOf({ text: 'x'.repeat(5_000_000) }, 'T'.repeat(10_000))
    expect(message).toHaveLength('refund: '.length + 500 + 2_000 + 3)
    expect(message.match(/…/g)).toHaveLength(2)
  })

  it('describes files', () => {
    expect(messageOf({ file: `data:application/pdf;base64,${PDF.data}` })).toContain('"bytes":40')
  })

  it('shows no secret of a callback', () => {
    const mac = macOf('secret', 'e', 'done')
    const message = messageOf({ url: `https://a.example/v1/callbacks/e/done/${mac}` }, `Call ${mac}?`)
    expect(message).not.toContain(mac)
    expect(message).toContain('https://a.example/v1/callbacks/e/done/')
  })
})
