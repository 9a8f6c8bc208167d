import type { ElicitRequest } from '@modelcontextprotocol/server'
import * as z from 'zod/mini'
import { decisionBody, MAX_NOTE_CHARACTERS } from '../contract/bodies/replies.ts'
import { maskMacs } from '../core/callback-mac.ts'
import { describeMedia } from '../core/describe-media.ts'
import type { Json } from '../core/json/json.ts'
import type { Approval } from '../engine/waiting/approvals.ts'
import { truncate } from '../schema/message-text.ts'
import { InvalidParams } from './tool-call.ts'

const MAX_TITLE_CHARACTERS = 500
/** Of the input as JSON. `GET /v1/approvals` returns all of it. */
const MAX_INPUT_CHARACTERS = 2_000

/**
 * An approval as a form that a client shows to a person. Fields can only be flat and primitive, so that no input is
 * edited here: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
export function toElicitation(approval: Pick<Approval, 'name' | 'title' | 'input'>): ElicitRequest {
  const { name, title, input } = maskMacs(approval)
  const shown = JSON.stringify(describeMedia(input))
  return {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: `${truncate(title, MAX_TITLE_CHARACTERS)}\n${name}: ${truncate(shown, MAX_INPUT_CHARACTERS)}`,
      requestedSchema: {
        type: 'object',
        properties: {
          decision: { type: 'string', title: 'Decision', enum: ['approve', 'reject'] },
          note: {
            type: 'string',
            title: 'Note',
            description: 'A comment for the agent.',
            maxLength: MAX_NOTE_CHARACTERS,
          },
        },
        required: ['decision'],
      },
    },
  }
}

const { decision, note } = decisionBody.shape

/** An `ElicitResult`: the form, or how else the person has answered. */
const response = z.discriminatedUnion(
  'action',
  [
    z.object({
      action: z.literal('accept'),
      content: z.object({ decision, note }, { error: 'must have the decision' }),
    }),
    z.object({ action: z.literal('decline') }),
    z.object({ action: z.literal('cancel') }),
  ],
  { error: 'must be an object with the action accept, decline or cancel' },
)

type Answer = { decision: 'approve' | 'reject'; note: string | null }

/**
 * The decision in a response: to decline is to reject. Null for one that was cancelled: "the user dismissed without
 * making an explicit choice", and the approval waits.
 * @throws InvalidParams
 */
export function toDecision(approvalId: string, given: Json): Answer | null {
  const { data, error } = response.safeParse(given)
  if (error) {
    const { path = [], message = '' } = error.issues[0] ?? {}
    throw new InvalidParams(`inputResponses.${[approvalId, ...path].join('.')} ${message}.`)
  }
  if (data.action === 'cancel') return null
  if (data.action === 'decline') return { decision: 'reject', note: null }
  return { decision: data.content.decision, note: data.content.note || null }
}
