/**
 * Elements of typed arrays at indices that the caller vouches for. One function for each kind of array: an engine makes
 * a single load of a function that has seen one kind, and `?? 0`, which the compiler asks for, costs nothing.
 */
export const byteAt = (array: Uint8Array, index: number): number => array[index] ?? 0;

export const shortAt = (array: Uint16Array, index: number): number => array[index] ?? 0;

export const intAt = (array: Int32Array, index: number): number => array[index] ?? 0;
