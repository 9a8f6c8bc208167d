import type { JsonObject } from '../../../lib/core/json.ts'

/** What was sent, what the agent gets, and the adaptations in short: `renamed /a-b -> /aB`, `converted /n from a text`. */
export type Case = [sent: JsonObject, effective: JsonObject, adaptations: string[]]

export type Group = { title: string; schema: JsonObject; cases: Case[] }

/** An input to which nothing is done. */
export const same = (sent: JsonObject): Case => [sent, sent, []]

/** Names as a parser makes them: `__proto__` is one like any other. */
export const parsed = (text: string): JsonObject => JSON.parse(text)

export const optional = (type: string, more: JsonObject = {}): JsonObject => ({
  type,
  required: false,
  ...more,
})
