/** Bytes of a result's JSON that are handed to the model; more is cut. */
export const MAX_RESULT_BYTES = 256_000

/** Characters of an error that are handed to the model. */
export const MAX_ERROR_CHARACTERS = 4_000

/** Bytes of an answer after which reading stops. */
export const MAX_READ_BYTES = 5_000_000

/** Bytes read of an answer that is an error anyway. */
export const MAX_ERROR_READ_BYTES = 64_000

export const TOOL_TIMEOUT_SECONDS = { min: 1, max: 900, default: 60 } as const
