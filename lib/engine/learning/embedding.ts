import type { Embedding, Lesson } from '../../core/learning.ts'

/** Longer ones are cut: models that are trained for it lose little, and any part of a vector is as good as another. */
const MAX_DIMENSIONS = 1_536

/** Standard deviations that fit: what exceeds them are outliers, which say little and would hide everything else. */
const RANGE = 8

/**
 * A vector of floating-point numbers with one byte for each, which changes cosines by less than 0.01; null if it is not
 * a vector. The unit is the median, not the maximum: some models have dimensions that are a thousand times the others.
 */
export function quantize(vector: readonly number[]): Int8Array | null {
  const cut = vector.slice(0, MAX_DIMENSIONS)
  const sorted = cut.map(Math.abs).sort((a, b) => a - b)
  // Of a normal distribution, 1.4826 times the median of absolute values is the standard deviation.
  const deviation = 1.4826 * (sorted[sorted.length >> 1] ?? 0) || (sorted.at(-1) ?? 0)
  if (!(deviation > 0) || !cut.every(Number.isFinite)) return null
  const unit = (RANGE * deviation) / 127
  return Int8Array.from(cut, (value) => Math.max(-127, Math.min(127, Math.round(value / unit))))
}

/**
 * The cosine of each lesson's embedding with that of the input, after the mean of the lessons' was subtracted, without
 * which all texts of some models look alike (Mu and Viswanath, "All-but-the-Top", 2018). Null for a lesson without an
 * embedding of the same model and length.
 */
export function cosinesTo(embedding: Embedding | null, lessons: Lesson[]): (number | null)[] {
  if (!embedding) return lessons.map(() => null)
  const { model, vector } = embedding
  const vectors = lessons.map((lesson) => {
    const isComparable = lesson.embedding?.model === model && lesson.embedding.vector.length === vector.length
    return isComparable ? (lesson.embedding?.vector ?? null) : null
  })
  const comparable = vectors.filter((each) => each !== null)
  const mean = new Float64Array(vector.length)
  for (const each of comparable)
    each.forEach((value, index) => {
      mean[index] = (mean[index] ?? 0) + value / comparable.length
    })
  // The difference of a few vectors to their mean says little.
  if (comparable.length < MIN_CENTERED) mean.fill(0)
  return vectors.map((each) => each && cosine(each, vector, mean))
}

const MIN_CENTERED = 8

function cosine(a: Int8Array, b: Int8Array, mean: Float64Array): number {
  let [product, squareA, squareB] = [0, 0, 0]
  mean.forEach((center, index) => {
    const [x, y] = [(a[index] ?? 0) - center, (b[index] ?? 0) - center]
    product += x * y
    squareA += x * x
    squareB += y * y
  })
  return product / Math.sqrt(squareA * squareB) || 0
}
