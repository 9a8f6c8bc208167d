import { wordsIn } from '../../core/search-text.ts'

/** `score` ranks texts, higher is closer; `share` is the fraction of the query that a text has. Both from 0 to 1. */
export type Match = { score: number; share: number }

/** The share below which texts have little but grammar in common. */
export const MIN_SHARE = 0.25

/**
 * How similar each text is to the query: by the words and by the trigrams of characters in words that both have, so
 * that other endings count in part. Rare ones count more, and longer words (cosine of TF-IDF vectors).
 * @param texts `searchTextOf` inputs, as is `query`
 * @param names of the fields of the query
 */
export function similaritiesTo(query: string, names: string, texts: string[]): Match[] {
  const index = new FeatureIndex()
  const asked = index.featuresOf(query)
  const named = new Set(index.featuresOf(wordsIn(names).join(' ')))
  const documents = texts.map((text) => index.featuresOf(text))
  const frequency = new Uint32Array(index.size)
  for (const features of documents)
    for (const feature of features) frequency[feature] = (frequency[feature] ?? 0) + 1

  /** What all texts have says little: field names nothing, other features less the more texts there are. */
  const rarity = Float64Array.from(frequency, (count, feature) =>
    Math.log((texts.length + (named.has(feature) ? 0 : 4)) / Math.max(count, 1)),
  )
  const sumOf = (features: number[], amountOf: (feature: number) => number) =>
    features.reduce((sum, feature) => sum + amountOf(feature), 0)
  const squareOf = (feature: number) => ((rarity[feature] ?? 0) * index.weightOf(feature)) ** 2
  const worthOf = (feature: number) => (rarity[feature] ?? 0) * index.meaningOf(feature)
  const [square, worth] = [sumOf(asked, squareOf), sumOf(asked, worthOf)]
  const isAsked = new Set(asked)
  return documents.map((features) => {
    const shared = features.filter((feature) => isAsked.has(feature))
    return {
      score: sumOf(shared, squareOf) / Math.sqrt(square * sumOf(features, squareOf)) || 0,
      share: sumOf(shared, worthOf) / worth || 0,
    }
  })
}

/** Numbers the words and trigrams of texts. */
class FeatureIndex {
  private readonly weights: number[] = []
  private readonly meanings: number[] = []
  private readonly numbers = new Map<string, number>()
  private readonly words = new Map<string, number[]>()

  get size(): number {
    return this.weights.length
  }

  weightOf(feature: number): number {
    return this.weights[feature] ?? 0
  }

  /** The same, except that trigrams of short words weigh no more than these. */
  meaningOf(feature: number): number {
    return this.meanings[feature] ?? 0
  }

  /** The distinct features of a text, whose words are separated by spaces. */
  featuresOf(text: string): number[] {
    const features = new Set<number>()
    for (const word of text.split(' ')) for (const feature of this.ofWord(word)) features.add(feature)
    return [...features]
  }

  private ofWord(word: string): number[] {
    let features = this.words.get(word)
    if (!features) {
      const weight = weightOf(word)
      const trigram = (text: string) => this.number(text, TRIGRAM_WEIGHT, Math.min(weight, TRIGRAM_WEIGHT))
      features = word === '' ? [] : [this.number(word, weight, weight), ...trigramsOf(word).map(trigram)]
      this.words.set(word, features)
    }
    return features
  }

  private number(feature: string, weight: number, meaning: number): number {
    const number = this.numbers.get(feature) ?? this.size
    this.numbers.set(feature, number)
    this.weights[number] = Math.max(weight, this.weightOf(number))
    this.meanings[number] = Math.max(meaning, this.meaningOf(number))
    return number
  }
}

/** Short words are mostly function words; a stop-word list would be specific to one language. */
const weightOf = (word: string): number => Math.min(Math.max(word.length - 3, 0.25), 5)

const TRIGRAM_WEIGHT = 2

/** Of a word between spaces, which no word contains. */
function trigramsOf(word: string): string[] {
  const characters = [' ', ...word, ' ']
  return characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(''))
}
