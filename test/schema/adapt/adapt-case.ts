import type { JsonObject } from '../../../lib/core/json/json.ts'

/** What was sent, what the agent gets, and the adaptations: `renamed /a-b -> /aB`, `converted /n from string`. */
export type Case = [sent: JsonObject, effective: JsonObject, adaptations: string[]]

export type Group = { title: string; schema: JsonObject; cases: Case[] }

export const group = (title: string, schema: JsonObject, cases: Case[]): Group => ({ title, schema, cases })

/** An input that is not changed. */
export const unchanged = (sent: JsonObject): Case => [sent, sent, []]

/** Parses JSON, in which `__proto__` is an ordinary field name. */
export const parsed = (text: string): JsonObject => JSON.parse(text)

export const optional = (type: string, more: JsonObject = {}): JsonObject => ({
  type,
  required: false,
  ...more,
})
