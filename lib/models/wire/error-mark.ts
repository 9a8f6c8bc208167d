import { randomUUID } from 'node:crypto'

/**
 * Begins the text of a failed tool result on its way to `bedrock-fetch.ts`, which replaces it by a status. Random, so that no
 * tool can return it.
 */
export const ERROR_MARK = `error-${randomUUID()} `
